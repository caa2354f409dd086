"""Keras 3 on torch, recorded by a callback.

python keras_fit.py runs/keras
"""

import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np

import stepscope as ss
from stepscope.integrations.keras import Callback


def main(folder: str) -> None:
    """Trains a little; the run goes into `folder`."""
    model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    inputs, targets = np.random.randn(160, 16), np.random.randn(160, 1)
    record = Callback(folder, schedule=ss.schedule(wait=2, warmup=1, active=3))
    history = model.fit(
        inputs,
        targets,
        batch_size=16,
        epochs=2,
        validation_split=0.2,
        callbacks=[record],
        verbose=0,
    )
    print({name: round(values[-1], 2) for name, values in history.history.items()})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/keras")
