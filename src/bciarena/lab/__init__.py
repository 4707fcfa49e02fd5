"""The experiments on a screen: stimulus pages, the operator's page, and the hub between them and the recording.

The pages play the timelines of ``bciarena.protocol``; the simulator plays the same ones. What a page shows at a frame
is a pure function of the frame's time (``luminance``), so timing can be proven from the log of frames.
"""
