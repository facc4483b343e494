import { generateKeyPairSync, sign } from 'node:crypto';

const SEQUENCE = 0x30;
const ECDSA_WITH_SHA256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');

/** A certificate for 127.0.0.1 that signs itself (X.509, RFC 5280), and its key, both in PEM. */
export function makeCertificate(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(encode(0x31, sequence(COMMON_NAME, encode(0x0c, Buffer.from('leaf')))));
  const validity = sequence(...['200101000000Z', '491231235959Z'].map((time) => encode(0x17, Buffer.from(time))));
  const address = sequence(encode(0x87, Buffer.of(127, 0, 0, 1)));
  const extensions = encode(0xa3, sequence(sequence(ALTERNATIVE_NAME, encode(0x04, address))));
  const [version, serial] = [encode(0xa0, encode(0x02, Buffer.of(2))), encode(0x02, Buffer.of(1))];
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const signed = sequence(version, serial, ECDSA_WITH_SHA256, name, validity, name, spki, extensions);
  const signature = encode(0x03, Buffer.of(0), sign('sha256', signed, privateKey));
  const base64 = sequence(signed, ECDSA_WITH_SHA256, signature).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return encode(SEQUENCE, ...parts);
}

/** One value in DER (X.690). */
function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}
