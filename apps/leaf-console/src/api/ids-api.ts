import { type Outcome, request } from './problem';

export type Mode = 'segment' | 'snowflake';
export type Manner = 'single' | 'batch' | 'range';

/** One line of what was drawn: an ID, or the two ends of a range. */
export interface Drawn {
  readonly from: string;
  readonly to: string;
}

/** Draws IDs as any client does. */
export function draw(mode: Mode, manner: Manner, name: string, size: number): Promise<Outcome<Drawn[]>> {
  const path = `api/${mode}/${manner === 'single' ? 'get' : manner}/${encodeURIComponent(name)}`;
  if (manner === 'single') return request(path, async (response) => [one(await response.text())]);
  return request(`${path}?size=${size}`, async (response) => {
    const body = (await response.json()) as { readonly ids?: readonly string[]; readonly ranges?: readonly Drawn[] };
    return body.ranges === undefined ? (body.ids ?? []).map(one) : [...body.ranges];
  });
}

function one(id: string): Drawn {
  return { from: id, to: id };
}
