"""
Costs around any classifier
===========================

``CostSearchCV`` learns the costs of mistakes around any classifier. The classifier is trained
without costs, and these move its decision boundaries: a tuned threshold, for any number of classes.
"""

# %%
# Digits, some of them rare and with only the upper part of the image, and a metric that gives all
# classes the same weight.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import CostSearchCV
from ecselm.displays import ConvergenceDisplay, CostMatrixDisplay

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
kept = (y < 5) & ((y < 3) | (rng.random(len(y)) < 0.2))
X_train, X_test, y_train, y_test = train_test_split(
    X[kept, :24], y[kept], stratify=y[kept], random_state=0
)

# %%
# Logistic regression favours frequent classes, and costs correct that. Around naive Bayes nothing
# is gained here.

classifiers = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
    "naive Bayes": GaussianNB(),
}
searches = {
    name: CostSearchCV(
        classifier,
        scoring="balanced_accuracy",
        population_size=15,
        max_epochs=15,
        random_state=0,
    ).fit(X_train, y_train)
    for name, classifier in classifiers.items()
}
print("balanced accuracy on test rows:")
for name, tuned in searches.items():
    plain = clone(classifiers[name]).fit(X_train, y_train)
    before, after = (
        balanced_accuracy_score(y_test, model.predict(X_test)) for model in (plain, tuned)
    )
    print(f"  {name:20} unchanged {before:.3f}, tuned {after:.3f}")

# %%
# The costs learned around logistic regression, and the convergence of both searches:

CostMatrixDisplay.from_estimator(searches["logistic regression"])
ConvergenceDisplay.from_estimator(searches)
plt.show()
