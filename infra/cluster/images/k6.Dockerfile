FROM docker.io/library/debian:bookworm-slim
COPY k6 /usr/bin/k6
USER 12345
ENTRYPOINT ["k6"]
