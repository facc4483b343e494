import { type Outcome, request } from './problem';

export type Mode = 'segment' | 'snowflake';
export type RequestType = 'single' | 'batch' | 'range';

/** One line of a response: a range, or an ID with equal ends. */
export interface Drawn {
  readonly from: string;
  readonly to: string;
}

/** Requests IDs as any client does. */
export function draw(mode: Mode, type: RequestType, name: string, size: number): Promise<Outcome<Drawn[]>> {
  const path = `api/${mode}/${type === 'single' ? 'get' : type}/${encodeURIComponent(name)}`;
  if (type === 'single') return request(path, async (response) => [one(await response.text())]);
  return request(`${path}?size=${size}`, async (response) => {
    const body = (await response.json()) as { readonly ids?: readonly string[]; readonly ranges?: readonly Drawn[] };
    return body.ranges === undefined ? (body.ids ?? []).map(one) : [...body.ranges];
  });
}

function one(id: string): Drawn {
  return { from: id, to: id };
}
