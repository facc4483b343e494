import type { Encoding } from './static-assets';

/** The first of the offered encodings that `Accept-Encoding` accepts; undefined if none. */
export function acceptedEncoding(header: string | undefined, offered: readonly Encoding[]): Encoding | undefined {
  const taken = (header ?? '').split(',').map((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return { name, refused: parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) };
  });
  return offered.find((encoding) => taken.some(({ name, refused }) => name === encoding && !refused));
}

/** Whether `If-None-Match` matches the ETag. */
export function isUnchanged(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const strong = etag.replace(/^W\//, '');
  return header.split(',').some((part) => part.trim() === '*' || part.trim().replace(/^W\//, '') === strong);
}
