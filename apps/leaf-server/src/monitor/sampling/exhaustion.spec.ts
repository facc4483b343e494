import { FakeClock } from '@leaf-ids/core/testing';
import type { Leaf } from '@leaf-ids/id';
import { Exhaustion } from './exhaustion';
import { IssueRates } from './issue-rates';

describe('Exhaustion', () => {
  const clock = new FakeClock();
  const rates = new IssueRates(clock);
  const segments = { generator: { isStrict: (tag: string) => tag === 'strict' } };
  const leaf = { segments } as unknown as Leaf;
  const exhaustion = new Exhaustion(rates, leaf);

  const sample = (buffered: Readonly<Record<string, number>>): Promise<void> =>
    exhaustion.sample((see) => {
      for (const [tag, count] of Object.entries(buffered)) see(tag, count);
      return Promise.resolve();
    });

  it('knows nothing while every tag is idle', async () => {
    await sample({ order: 5, tag1500: 0 });
    expect([exhaustion.leastSeconds, exhaustion.shortTags]).toEqual([undefined, 0]);
  });

  it('is that of the tag that ends first, however many tags there are', async () => {
    for (let second = 0; second <= 10; second += 5) {
      await rates.sample((see) => {
        for (let i = 0; i < 2000; i++) see(`tag${i}`, 1 + second * 10);
        see('strict', 1 + second * 10);
        return Promise.resolve();
      });
      await clock.advance(5000);
    }
    const full = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`tag${i}`, 6000]));
    await sample({ ...full, tag1500: 100, tag1501: 5990, idle: 0, strict: 0 });
    expect([exhaustion.leastSeconds, exhaustion.shortTags]).toEqual([10, 2]);
    await sample(full);
    expect([exhaustion.leastSeconds, exhaustion.shortTags]).toEqual([600, 0]);
  });
});
