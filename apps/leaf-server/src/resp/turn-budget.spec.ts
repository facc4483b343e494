import { setImmediate as turn } from 'node:timers/promises';
import { FakeClock } from '@leaf-ids/core/testing';
import { TurnBudget } from './turn-budget';

describe('TurnBudget', () => {
  it('ends after 1 ms, and begins again in the next turn with those that have waited for longest', async () => {
    const clock = new FakeClock();
    const budget = new TurnBudget(clock);
    const served: string[] = [];
    const wait = (name: string): void => {
      budget.wait(() => {
        served.push(name);
        clock.pause(0.5);
      }, false);
    };
    expect(budget.admits(clock.monotonic())).toBe(true);
    clock.pause(1);
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
    expect(budget.admits(begunAt + 0.5, begunAt)).toBe(true);
    budget.wait(() => undefined, false);
    expect(budget.admits(begunAt + 0.1, begunAt)).toBe(true);
    expect(budget.admits(begunAt + 0.2, begunAt)).toBe(false);
    expect(budget.admits(begunAt + 0.5)).toBe(true);
  });

  it('alternates over turns that have time for one', async () => {
    const clock = new FakeClock();
    const budget = new TurnBudget(clock);
    const served: string[] = [];
    const wait = (name: string, isInterrupted: boolean): void => {
      budget.wait(() => {
        served.push(name);
        clock.pause(0.3);
      }, isInterrupted);
    };
    budget.admits(clock.monotonic());
    wait('long', true);
    for (const name of ['new 1', 'new 2', 'new 3']) {
      budget.arrive();
      wait(name, false);
      await turn();
    }
    expect(served.slice(0, 2)).toEqual(['new 1', 'long']);
  });

  it('is shorter in the turn after the arrival of a connection', async () => {
    const clock = new FakeClock();
    const budget = new TurnBudget(clock);
    const served: number[] = [];
    const wait = (): void => {
      budget.wait(() => {
        served.push(clock.monotonic());
        clock.pause(0.5);
      }, true);
    };
    budget.admits(clock.monotonic());
    for (let n = 0; n < 4; n++) wait();
    budget.arrive();
    await turn();
    expect(served).toHaveLength(1);
    await turn();
    expect(served).toHaveLength(3);
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
