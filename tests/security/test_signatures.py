"""Signatures: what was signed is accepted, and anything else is a diagnostic before it is used."""

import json
import subprocess
import sys
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta

import jsonschema
import numpy as np
import pytest
import written
from typer.testing import CliRunner

import tripybuild
from tripybuild.artifact import signatures
from tripybuild.artifact.signatures import SigningKey, sign, signature_path, verify
from tripybuild.cli.main import app
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths

pytest.importorskip("model_signing", reason="model-signing is not installed")
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

TEXT = "inputs:\n  x: float32[2]\noutputs:\n  y: exp(x)\n"
PEM = serialization.Encoding.PEM


def new_key(folder, name, password=None):
    """A pair of keys, `NAME.pem` and `NAME.pub`."""
    key = ec.generate_private_key(ec.SECP256R1())
    closed = serialization.BestAvailableEncryption(password) if password else None
    form = serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(PEM, form, closed or serialization.NoEncryption())
    (folder / f"{name}.pem").write_bytes(secret)
    public = key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / f"{name}.pub").write_bytes(public)
    return key


def certificate(name, key, issuer, issuer_key, *, is_root):
    """A certificate of a key, which may sign files, or others' certificates."""
    now = datetime.now(UTC)
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, n)]) for n in (name, issuer)]
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
         "crl_sign", "encipher_only", "decipher_only"), False,
    )  # fmt: skip
    made = x509.CertificateBuilder(names[1], names[0], key.public_key(), serial_number=7)
    made = made.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    made = made.add_extension(x509.BasicConstraints(is_root, None), critical=True)
    key_usage = x509.KeyUsage(digital_signature=True, key_cert_sign=is_root, **usage)
    made = made.add_extension(key_usage, critical=True)
    return made.sign(issuer_key, hashes.SHA256()).public_bytes(PEM)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A signed executable `good.tpb`, another one that is not, and keys."""
    found = tmp_path_factory.mktemp("signed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIPYBUILD_CACHE_DIR", str(found / "cache"))
        for name, text in (("good", TEXT), ("other", TEXT.replace("exp", "sin"))):
            path = written.write(found, text)
            tripybuild.compile(path, target="reference", output=found / f"{name}.tpb")
        for name in ("our", "their"):
            new_key(found, name)
        sign(found / "good.tpb", SigningKey(found / "our.pem"))
        yield found


@pytest.mark.parametrize("victim", ["our.pem", "other.tpb", "volumes.yaml"])
def test_a_signature_replaces_no_other_file(folder, victim):
    """Such as the key itself; another signature, also one cut short, it does."""
    place = folder / victim
    place.exists() or place.write_text(TEXT)
    before = place.read_bytes()
    key = SigningKey(folder / "our.pem")
    with pytest.raises(DiagnosticError, match="not a signature"):
        sign(folder / "other.tpb", key, place)
    assert place.read_bytes() == before
    cut = folder / f"cut-{victim}.sig"
    cut.write_bytes((folder / "good.tpb.sig").read_bytes()[:100])
    assert sign(folder / "good.tpb", key, cut) == cut
    verify(folder / "good.tpb", folder / "our.pub", cut)


def copied(folder, tmp_path):
    """A copy of the executable and its signature."""
    path = tmp_path / "model.tpb"
    path.write_bytes((folder / "good.tpb").read_bytes())
    signature_path(path).write_bytes((folder / "good.tpb.sig").read_bytes())
    return path


def refused(path, key, signature=None):
    """The code of the one diagnostic that verification ends in, and that loading ends in."""
    codes = []
    for call in (verify, lambda p, k, _: tripybuild.load(p, verify=k)):
        if signature is None or call is verify:
            with pytest.raises(DiagnosticError) as caught:
                call(path, key, signature)
            (found,) = caught.value.diagnostics
            codes.append(found.code)
    assert len(set(codes)) == 1
    return codes[0]


def test_what_was_signed_is_verified(folder, tmp_path):
    """Whatever its name is, and in whatever folder."""
    path = copied(folder, tmp_path)
    verify(path, folder / "our.pub")
    loaded = tripybuild.load(path, verify=folder / "our.pub")
    x = np.array([0.5, 2.0], np.float32)
    np.testing.assert_allclose(loaded(x=x)["y"], np.exp(x), rtol=1e-6)


def test_anything_else_is_refused(folder, tmp_path):
    """Another file, another key, another file's signature, none."""
    path = copied(folder, tmp_path)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    assert refused(path, folder / "our.pub") == "signature-mismatch"
    assert refused(folder / "good.tpb", folder / "their.pub") == "signature-untrusted"
    path.write_bytes((folder / "other.tpb").read_bytes())
    assert refused(path, folder / "our.pub") == "signature-mismatch"
    assert refused(folder / "other.tpb", folder / "our.pub") == "signature-missing"
    assert refused(folder / "none.tpb", folder / "our.pub") == "file-not-found"


def test_an_altered_signature_is_refused(folder, tmp_path):
    """Each part of it: its digest, its name of the key, its bytes, its form."""
    path = copied(folder, tmp_path)
    place, key = signature_path(path), folder / "our.pub"
    bundle = json.loads(place.read_text())
    payload = b64decode(bundle["dsseEnvelope"]["payload"])

    def code(change):
        made = json.loads(json.dumps(bundle))
        change(made)
        place.write_text(json.dumps(made))
        return refused(path, key)

    def put(text):
        return lambda made: made["dsseEnvelope"].update(payload=b64encode(text).decode())

    def sigless(made):
        made["dsseEnvelope"]["signatures"] = []

    def hint(text):
        return lambda made: made["verificationMaterial"]["publicKey"].update(hint=text)

    assert code(put(payload.replace(b"good", b"evil"))) == "signature-untrusted"
    assert code(hint("00" * 32)) == "signature-untrusted"
    assert code(put(payload.replace(b"signature/v1.0", b"Digests"))) == "signature-malformed"
    assert code(put(b"{}")) == code(hint("")) == code(sigless) == "signature-malformed"
    for text in ("", "[]", "nul", "[" * 100_000, '{"dsseEnvelope": 3}', "\xff"):
        place.write_bytes(text.encode("latin-1"))
        assert refused(path, key) == "signature-malformed", text[:20]


def test_keys_that_are_none(folder, tmp_path):
    """A private key in the place of a public one, a curve that is not taken, no key at all."""
    good = folder / "good.tpb"
    curve = ec.generate_private_key(ec.SECP256K1()).public_key()
    (tmp_path / "k1.pub").write_bytes(
        curve.public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    for key in (folder / "our.pem", tmp_path / "k1.pub", good):
        assert refused(good, key) == "key-unusable"
    assert refused(good, tmp_path / "none.pub") == "file-not-found"
    for key in (folder / "our.pub", good):
        with pytest.raises(DiagnosticError) as caught:
            sign(good, SigningKey(key), tmp_path / "s.sig")
        assert caught.value.diagnostics[0].code == "key-unusable"
    assert not (tmp_path / "s.sig").exists()


def test_certificates(folder, tmp_path):
    """One that the root has issued is taken, one of another root is not."""
    roots = {name: new_key(tmp_path, name) for name in ("root", "evil")}
    signer = new_key(tmp_path, "signer")
    for name, key in roots.items():
        made = certificate(name, key, name, key, is_root=True)
        (tmp_path / f"{name}.crt").write_bytes(made)
    made = certificate("signer", signer, "root", roots["root"], is_root=False)
    (tmp_path / "signer.crt").write_bytes(made)
    path = copied(folder, tmp_path)
    assert refused(path, tmp_path / "root.crt") == "signature-untrusted"  # by a key
    key = SigningKey(tmp_path / "signer.pem", None, tmp_path / "signer.crt")
    sign(path, key)
    verify(path, tmp_path / "root.crt")
    assert refused(path, tmp_path / "evil.crt") == "signature-untrusted"
    assert refused(path, tmp_path / "signer.pub") == "signature-untrusted"  # by a certificate


def test_a_file_that_changes_meanwhile_is_refused(folder, tmp_path, monkeypatch):
    """What is read is what was verified."""
    path = copied(folder, tmp_path)
    check = signatures.check_same

    def replaced(file, identity):
        check(file, identity)
        path.write_bytes((folder / "other.tpb").read_bytes())

    monkeypatch.setattr("tripybuild.artifact.signatures.check_same", replaced)
    identity = verify(path, folder / "our.pub")
    with pytest.raises(DiagnosticError, match="changed while"):
        check(path, identity)


def answer(name):
    """The schema of an answer."""
    return json.loads((paths.schemas() / "answers" / f"{name}.json").read_text())


def test_commands(folder, tmp_path, monkeypatch):
    """`sign` and `verify` by the command line, with a password, and another tool's answer."""
    new_key(tmp_path, "closed", b"secret")
    path, key, public = copied(folder, tmp_path), tmp_path / "closed.pem", tmp_path / "closed.pub"
    run = CliRunner().invoke
    assert run(app, ["sign", str(path), "--key", str(key)]).exit_code == 1
    monkeypatch.setenv("TRIPYBUILD_KEY_PASSWORD", "secret")
    done = run(app, ["sign", str(path), "--key", str(key), "--json"])
    jsonschema.validate(json.loads(done.stdout), answer("sign"))
    words = ["verify", str(path), "--key"]
    done = run(app, [*words, str(public), "--json"])
    jsonschema.validate(json.loads(done.stdout), answer("verify"))
    done = run(app, [*words, str(folder / "our.pub"), "--json"])
    assert json.loads(done.stdout)["diagnostics"][0]["code"] == "signature-untrusted"
    assert run(app, ["run", str(path), "--random", "--verify", str(public)]).exit_code == 0
    assert run(app, ["run", str(path), "--random", "--verify", str(key)]).exit_code == 1
    words = ["verify", "key", str(path), "--signature", f"{path}.sig", "--public_key", str(public)]
    tool = [sys.executable, "-m", "model_signing", *words]
    assert subprocess.run(tool, capture_output=True, check=False).returncode == 0


def test_the_package_is_an_extra(folder, monkeypatch):
    """Without it, the line that installs it is said."""
    monkeypatch.setitem(sys.modules, "model_signing", None)
    with pytest.raises(DiagnosticError) as caught:
        verify(folder / "good.tpb", folder / "our.pub")
    (found,) = caught.value.diagnostics
    assert (found.code, "tripybuild[signing]" in found.hint) == ("not-installed", True)
