"""MXNet 1.x's names around the operators, so that its programs run with another import."""
