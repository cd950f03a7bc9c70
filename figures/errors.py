"""The one error the gallery raises for input it cannot use."""

from pirlab_estimator.records import InputError

__all__ = ["InputError"]
