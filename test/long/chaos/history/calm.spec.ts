import { Calm, CALM_LIMIT_MS } from './calm';

describe('the calm part', () => {
  it('names every caller that went without IDs for longer than the limit, and for how long', () => {
    const calm = new Calm();
    for (let now = 20_000; now <= 30_000; now += 100) {
      const slow = { name: 'slow', lastAnswerAt: now < 27_500 ? 20_000 : now };
      calm.look(now, [{ name: 'quick', lastAnswerAt: now - 40 }, slow, { name: 'dead', lastAnswerAt: 19_000 }]);
    }
    expect(calm.late).toEqual(['dead got no ID for 11.0 s', 'slow got no ID for 7.4 s']);
  });

  it('is content with callers that wait no longer than the limit', () => {
    const calm = new Calm();
    calm.look(20_000, [{ name: 'slow', lastAnswerAt: 20_000 - CALM_LIMIT_MS }]);
    expect(calm.late).toStrictEqual([]);
  });
});
