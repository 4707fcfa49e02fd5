"""From a trained model, or an estimator, to an entry: the model in its window, with a stopping rule around it."""
