import { setImmediate as turn } from 'node:timers/promises';
import { FakeClock } from '@leaf-ids/core/testing';
import { TurnBudget } from './turn-budget';

describe('TurnBudget', () => {
  it('ends after 2 ms, and begins again in the next turn with those that have waited for longest', async () => {
    const clock = new FakeClock();
    const budget = new TurnBudget(clock);
    const served: string[] = [];
    const wait = (name: string): void => {
      budget.wait(() => {
        served.push(name);
        clock.pause(1);
      }, false);
    };
    expect(budget.admits(clock.monotonic())).toBe(true);
    clock.pause(2);
    expect(budget.admits(clock.monotonic())).toBe(false);
    for (const name of ['first', 'second', 'third']) wait(name);
    await turn();
    expect(served).toEqual(['first', 'second']);
    await turn();
    expect(served).toEqual(['first', 'second', 'third']);
  });

  it('gives one connection all of it, and only a slice while others wait', () => {
    const clock = new FakeClock();
    const budget = new TurnBudget(clock);
    const begunAt = clock.monotonic();
    expect(budget.admits(begunAt)).toBe(true);
    expect(budget.admits(begunAt + 1, begunAt)).toBe(true);
    budget.wait(() => undefined, false);
    expect(budget.admits(begunAt + 0.1, begunAt)).toBe(true);
    expect(budget.admits(begunAt + 0.2, begunAt)).toBe(false);
    expect(budget.admits(begunAt + 1)).toBe(true);
  });

  it('alternates between connections that have not begun and interrupted ones', async () => {
    const clock = new FakeClock();
    const budget = new TurnBudget(clock);
    const served: string[] = [];
    const wait = (name: string, isInterrupted: boolean): void => {
      budget.wait(() => served.push(name), isInterrupted);
    };
    budget.admits(clock.monotonic());
    for (const name of ['long 1', 'long 2', 'long 3']) wait(name, true);
    for (const name of ['short 1', 'short 2']) wait(name, false);
    await turn();
    expect(served).toEqual(['short 1', 'long 1', 'short 2', 'long 2', 'long 3']);
  });
});
