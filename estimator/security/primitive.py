"""The instances that a measured primitive exposes, from the settings that `pirlab primitive describe` completed.

Only packings are parameter sets in this sense: their keys go to the server, and a paper's table shows them beside
protocols. The other primitives are measured on their own, and claim no security.
"""


def instances(description: dict) -> list[dict]:
    """The LWE instances of a `pirlab/primitive-description/1`, as descriptions of protocols list theirs."""
    if description["primitive"] != "packing":
        return []
    settings = description["settings"]
    keys = {
        "name": "packing_keys",
        "kind": "rlwe",
        "dimension": settings["n"],
        "modulus": settings["modulus"],
        "secret": _secret(settings),
        "error_stddev": settings["stddev"],
        "protects": "the messages packed, through the secret key",
    }
    return [keys]


def _secret(settings: dict) -> dict:
    """A fixed weight is half ones, half minus ones."""
    if settings["secret"] == "fixed-weight":
        weight = int(settings["secret_weight"])
        return {"kind": "fixed_weight", "plus": weight - weight // 2, "minus": weight // 2}
    if settings["secret"] == "gaussian":
        return {"kind": "gaussian", "stddev": settings["secret_stddev"]}
    return {"kind": settings["secret"]}
