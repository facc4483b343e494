import { LeafError, MAX_ID } from '@leaf-ids/core';
import { MAX_STEP } from '@leaf-ids/core/internal';
import { BodyPipe } from './body.pipe';
import { NewTagBody, TagChangeBody } from '../../admin/tag-bodies';

const newTag = new BodyPipe(() => Promise.resolve(NewTagBody));
const change = new BodyPipe(() => Promise.resolve(TagChangeBody));

async function fault(pipe: BodyPipe<object>, body: unknown): Promise<string> {
  const error: unknown = await pipe.transform(body).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LeafError);
  expect(error).toMatchObject({ code: 'LEAF_BODY_INVALID' });
  return (error as LeafError).message;
}

function plain(body: object): unknown {
  return Object.fromEntries(Object.entries(body));
}

describe('the bodies of tags', () => {
  it.each([
    { tag: 'order', step: 1 },
    { tag: 'order', step: MAX_STEP, maxId: String(MAX_ID), description: 'ü'.repeat(256) },
    { tag: '', step: 1, maxId: '1', description: '' },
    { tag: 'order', step: 1, description: '😀'.repeat(256) },
  ])('%j can be a new tag', async (body) => {
    expect(plain(await newTag.transform(body))).toEqual(body);
  });

  it('hold nothing that must be changed', async () => {
    expect(plain(await change.transform({}))).toEqual({});
    expect(plain(await change.transform({ step: 5 }))).toEqual({ step: 5 });
  });

  it.each([undefined, null, 1, 'text', true, [], [{ tag: 'order', step: 1 }]])('%j is none', async (body) => {
    expect(await fault(newTag, body)).toContain('JSON object');
  });

  const refused: Record<string, unknown[]> = {
    tag: [undefined, null, 1, ['order']],
    step: [null, 0, -1, 1.5, MAX_STEP + 1, '5', true, [5], {}],
    maxId: [null, 1, '', '0', '-1', '01', '1.0', ' 1', '9223372036854775808', ['1']],
    description: [
      null,
      5,
      'x'.repeat(257),
      '😀'.repeat(257),
      `${'x'.repeat(256)}\ufe0f`,
      'a\nb',
      'a\0b',
      '\ud800',
      ['x'],
    ],
  };

  it.each(Object.entries(refused).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    '%s %j is refused',
    async (name, value) => {
      const body = { tag: 'order', step: 1, [name]: value };
      expect(await fault(newTag, body)).toMatch(new RegExp(`Invalid body: ${name} must be [^;]*\\.$`));
    },
  );

  it('are refused with every fault', async () => {
    const message = await fault(newTag, { step: 0, maxId: 7, description: 1, color: 'red' });
    for (const part of ['tag must', 'step must', 'maxId must', 'description must', '"color" is an unknown property']) {
      expect(message.split(part)).toHaveLength(2);
    }
  });

  it.each(['constructor', 'hasOwnProperty', 'toString', '__proto__', 'then', '', 'updatedAt'])(
    'refuse the unknown property %j',
    async (name) => {
      const body: unknown = JSON.parse(`{"step":1,${JSON.stringify(name)}:1}`);
      expect(await fault(change, body)).toContain(`${JSON.stringify(name)} is an unknown property`);
    },
  );

  it('are refused in a few words, whatever they hold', async () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`${n}-${'x'.repeat(200)}`, n]));
    const message = await fault(change, body);
    expect(message.length).toBeLessThan(1000);
    expect(message).toContain('and 4990 more');
  });
});
