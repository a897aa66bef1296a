# docker build -t ecselm .
# docker run --rm --read-only --tmpfs /tmp --user "$(id -u):$(id -g)" -v "$PWD:/data" ecselm fit data.csv --target y

FROM python:3.13-slim-bookworm AS build
ARG EXTRAS=onnx,parquet,plot
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# The compiler stays in this stage. Debian's releases keep to one version of it.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN python -m venv /opt/ecselm \
    && /opt/ecselm/bin/pip install --no-cache-dir ".[${EXTRAS}]"

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="ecselm" \
      org.opencontainers.image.licenses="BSD-3-Clause" \
      org.opencontainers.image.source="https://github.com/ecselm/ecselm" \
      org.opencontainers.image.documentation="https://ecselm.github.io/ecselm"
COPY --from=build /opt/ecselm /opt/ecselm
# Nothing is written outside of the working folder and /tmp: the root file system may be read-only.
ENV PATH=/opt/ecselm/bin:$PATH \
    HOME=/tmp \
    MPLCONFIGDIR=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /data
USER 65532:65532
ENTRYPOINT ["ecselm"]
CMD ["--help"]
