"""Drives the Python client for faults.test.ts: a line of JSON in for each transfer, a line out for each that has ended."""

import concurrent.futures
import io
import json
import resource
import sys
import threading
import time

sys.path.insert(0, "examples/clients/python")
from template_run import Cancelled, TemplateRunClient, TemplateRunError  # noqa: E402

AT_ONCE = 8
printing = threading.Lock()


def source_of(asked):
    if asked["kind"] == "path":
        return asked["source"]
    with open(asked["source"], "rb") as file:
        content = file.read()
    return content if asked["kind"] == "bytes" else lambda: io.BytesIO(content)


def transfer(line):
    asked = json.loads(line)
    told = {"number": asked["number"]}
    client = TemplateRunClient(asked["url"], asked["key"], retries=asked["retries"], idle_seconds=asked["idleSeconds"])

    def cancel_at(phase, sent, _):
        if asked.get("cancelAt") is not None and phase == asked.get("phase") and sent >= asked["cancelAt"]:
            told["cancelledAt"] = time.monotonic()
            threading.Thread(target=client.cancel).start()
            asked["cancelAt"] = None

    try:
        with client:
            options = {"on_progress": cancel_at, **asked.get("options", {})}
            client.transform(asked.get("template", "pick"), source_of(asked), asked["target"], **options)
    except TemplateRunError as error:
        told["code"] = error.code
    except Cancelled:
        told["code"] = "CANCELLED"
        told["milliseconds"] = round(1000 * (time.monotonic() - told["cancelledAt"]))
    except Exception as error:
        told["fault"] = repr(error)
    told["residentBytesMax"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with printing:
        print(json.dumps(told), flush=True)


with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
    for line in sys.stdin:
        pool.submit(transfer, line)
