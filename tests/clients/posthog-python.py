"""Evaluates all flags for each person in three ways and prints the results as JSON."""

import json
import os
import sys

from posthog import Posthog

token, host = os.environ["HALYARD_PROJECT_TOKEN"], os.environ["HALYARD_URL"]
persons = json.loads(sys.argv[1])


def values(flags):
    return {key: flags.get_flag(key) for key in flags.keys}


remote = Posthog(token, host=host)
local = Posthog(token, host=host, secret_key=os.environ["HALYARD_SECRET_KEY"])
local.load_feature_flags()

results = []
for person in persons:
    properties = {"plan": person["plan"]}
    asked = remote.evaluate_flags(person["id"], person_properties=properties)
    known = local.evaluate_flags(person["id"], person_properties=properties, only_evaluate_locally=True)
    results.append(
        {
            "remote": values(asked),
            "local": values(known),
            "payloads": [flags.get_flag_payload("on") for flags in (asked, known)],
        }
    )

remote.capture("ordered", distinct_id=persons[0]["id"], properties={"$set": {"learned": "python"}})
remote.shutdown()
local.shutdown()
print(json.dumps(results))
