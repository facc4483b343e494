import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';
import type { SegmentIdGenerator } from '../segment-id-generator';
import { ServedTags } from './served-tags';

/** More than the lookups after which a tag is remembered, whichever tags were used before. */
const MANY = 1500;
/** So large that no test loads a second segment. */
const STEP = 20_000;

async function remembering(rig: SegmentRig): Promise<SegmentIdGenerator> {
  const generator = rig.generator();
  await generator.next(TAG);
  for (let id = 2; id <= MANY; id++) expect(generator.tryNextNumber(TAG)).toBe(id);
  return generator;
}

describe('the remembered tag', () => {
  it('issues no ID while it is paused', async () => {
    const generator = await remembering(new SegmentRig(STEP));
    await generator.pause(TAG);
    expect(generator.tryNext(TAG)).toBeUndefined();
    expect(generator.tryNextNumber(TAG)).toBeUndefined();
    await generator.resume(TAG);
    expect(generator.tryNext(TAG)).toBe(BigInt(MANY + 1));
  });

  it('issues no ID once it is removed, and new IDs once it is back', async () => {
    const rig = new SegmentRig(STEP);
    const generator = await remembering(rig);
    generator.remove(TAG);
    expect(generator.tryNextNumber(TAG)).toBeUndefined();
    await rig.settle();
    expect(await generator.next(TAG)).toBe(BigInt(STEP + 1));
    for (let id = STEP + 2; id <= STEP + MANY; id++) expect(generator.tryNextNumber(TAG)).toBe(id);
  });

  it('issues no ID once the generator is closed', async () => {
    const generator = await remembering(new SegmentRig(STEP));
    await generator.close();
    expect(generator.tryNextNumber(TAG)).toBeUndefined();
  });

  it('is found when it is added after a lookup in vain', () => {
    const tags = new ServedTags();
    expect(tags.find(TAG)).toBeUndefined();
    const buffer = new SegmentRig(10).buffer();
    tags.set(TAG, buffer);
    expect(tags.find(TAG)).toBe(buffer);
  });

  it('is forgotten when the tags are cleared', () => {
    const tags = new ServedTags([[TAG, new SegmentRig(10).buffer()]]);
    expect(tags.find(TAG)).toBeDefined();
    tags.clear();
    expect(tags.find(TAG)).toBeUndefined();
  });

  it('saves the lookups of a tag used many times in a row, also after tags used in turn', () => {
    const tags = new ServedTags();
    const buffer = new SegmentRig(10).buffer();
    for (const tag of ['a', 'b', 'c']) tags.set(tag, buffer);
    const lookups = jest.spyOn(tags, 'get');
    for (let turn = 0; turn < MANY; turn++) for (const tag of ['b', 'c']) tags.find(tag);
    expect(lookups.mock.calls.length).toBeLessThan(2 * MANY);
    lookups.mockClear();
    for (let turn = 0; turn < 10 * MANY; turn++) expect(tags.find('a')).toBe(buffer);
    expect(lookups.mock.calls.length).toBeLessThan(MANY);
  });

  it('changes with the tags that are asked for', async () => {
    const rig = new SegmentRig(STEP);
    rig.store.put('user', 501n, 2000);
    const generator = await remembering(rig);
    await generator.next('user');
    for (let turn = 1; turn <= MANY; turn++) {
      expect(generator.tryNextNumber('user')).toBe(501 + turn);
      expect(generator.tryNext(TAG)).toBe(BigInt(MANY + turn));
    }
  });
});
