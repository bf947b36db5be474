"""Estimators with the interface of scikit-learn, which they need; nothing else imports it when it is loaded."""
