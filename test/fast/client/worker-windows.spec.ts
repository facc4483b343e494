import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BitLayout, type BitLayoutOptions, LeafError } from '@leaf-ids/core';
import { WindowRig } from '../../support/fakes/window-rig';

interface Answer {
  readonly workerId: number;
  readonly from: number;
  readonly until: number;
}

type Step =
  | { readonly answer: Answer }
  | { readonly lost: true }
  | { readonly now: number; readonly expect: 'issue' | 'wait' | 'refuse' };

interface Vectors {
  readonly layouts: Readonly<Record<string, BitLayoutOptions>>;
  readonly compose: readonly {
    readonly layout: string;
    readonly timestamp: number;
    readonly workerId: number;
    readonly sequence: number;
    readonly id: string;
  }[];
  readonly windows: readonly { readonly name: string; readonly steps: readonly Step[] }[];
}

const vectors = JSON.parse(readFileSync(join(__dirname, '../../conformance/worker-windows.json'), 'utf8')) as Vectors;

it.each(vectors.compose)('$id has its fields', ({ layout: name, id, ...fields }) => {
  const layout = new BitLayout(vectors.layouts[name] as BitLayoutOptions);
  expect(String(layout.compose(fields))).toBe(id);
  expect(layout.decompose(BigInt(id))).toEqual(fields);
});

it.each(vectors.windows)('LeafClient decides as expected: $name', async ({ steps }) => {
  const rig = new WindowRig();
  const setClock = (to: number): void => rig.clock.step(to - rig.clock.now());
  for (const step of steps) {
    if ('now' in step) {
      setClock(step.now);
      expect([step, rig.ids.tryNext() !== undefined]).toEqual([step, step.expect === 'issue']);
      continue;
    }
    rig.answer = (request) => {
      if ('lost' in step) throw new LeafError('LEAF_LEASE_LOST', 'It is lost.', { status: 409 });
      // As far as the client knows, half of the window passes an hour later: it asks when the test does.
      return { ...rig.sound(request), ...step.answer, now: step.answer.until - 7_200_000 };
    };
    await nextAnswer(rig);
  }
  rig.answer = (request) => rig.sound(request);
  await rig.close();
});

/** Lets the client send its next request: the first one, the one after a loss, or an extension. */
async function nextAnswer(rig: WindowRig): Promise<void> {
  const before = rig.requests.length;
  const at = rig.clock.now();
  rig.ids.tryNext();
  for (let tries = 0; rig.requests.length === before && tries < 1000; tries++) await rig.clock.advance(10_000);
  await rig.clock.advance(0);
  rig.clock.step(at - rig.clock.now());
}
