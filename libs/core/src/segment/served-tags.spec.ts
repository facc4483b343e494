import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import type { SegmentIdGenerator } from './segment-id-generator';

/** More than the lookups after which a tag is remembered. */
const MANY = 20;

async function remembering(rig: SegmentRig): Promise<SegmentIdGenerator> {
  const generator = rig.generator();
  await generator.next(TAG);
  for (let id = 2; id <= MANY; id++) expect(generator.tryNextNumber(TAG)).toBe(id);
  return generator;
}

describe('the remembered tag', () => {
  it('issues no ID while it is paused', async () => {
    const generator = await remembering(new SegmentRig(2000));
    await generator.pause(TAG);
    expect(generator.tryNext(TAG)).toBeUndefined();
    expect(generator.tryNextNumber(TAG)).toBeUndefined();
    await generator.resume(TAG);
    expect(generator.tryNext(TAG)).toBe(BigInt(MANY + 1));
  });

  it('issues no ID once it is removed, and new IDs once it is back', async () => {
    const rig = new SegmentRig(2000);
    const generator = await remembering(rig);
    generator.remove(TAG);
    expect(generator.tryNextNumber(TAG)).toBeUndefined();
    await rig.settle();
    expect(await generator.next(TAG)).toBe(2001n);
    for (let id = 2002; id <= 2000 + MANY; id++) expect(generator.tryNextNumber(TAG)).toBe(id);
  });

  it('issues no ID once the generator is closed', async () => {
    const generator = await remembering(new SegmentRig(2000));
    await generator.close();
    expect(generator.tryNextNumber(TAG)).toBeUndefined();
  });

  it('changes with the tags that are asked for', async () => {
    const rig = new SegmentRig(2000);
    rig.store.put('user', 501n, 100);
    const generator = await remembering(rig);
    await generator.next('user');
    for (let turn = 1; turn <= MANY; turn++) {
      expect(generator.tryNextNumber('user')).toBe(501 + turn);
      expect(generator.tryNext(TAG)).toBe(BigInt(MANY + turn));
    }
  });
});
