"""The contests' own classes, under the contests' names: what an entry imports from its framework.

A companion package's interface files are made of the classes here (see entries.companion), one class to a file.
"""
