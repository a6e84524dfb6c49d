"""Activation functions: `Activation`, `LeakyReLU`, and the softmax family."""
