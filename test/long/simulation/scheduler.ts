import type { SeededRandom } from '../../support/seeded-random';

/** Whom an event happens to. */
export interface Actor {
  readonly name: string;
  /** Events of an ended process are dropped. */
  readonly alive: boolean;
  /** Its events wait until then, in true milliseconds: it is paused, or computing. */
  readonly busyUntil: number;
  /** Called before each of its events. */
  wake(): void;
}

export interface Timer {
  cancelled: boolean;
}

interface Event extends Timer {
  time: number;
  tie: number;
  readonly label: string;
  readonly actor: Actor | undefined;
  readonly run: () => void;
}

export type StepListener = (step: number, time: number, actor: string, label: string) => void;

/** Describes what happens within a step; called only when tracing is on. */
export type Note = (text: () => string) => void;

/**
 * Owns true time. Runs one event after the other, each with all microtasks that follow; equal times run in random
 * order.
 */
export class Scheduler {
  /** True milliseconds since the start. */
  now = 0;
  steps = 0;
  private readonly heap: Event[] = [];

  constructor(
    private readonly random: SeededRandom,
    private readonly onError: (error: unknown) => void,
    private readonly onStep?: StepListener,
  ) {}

  at(time: number, label: string, run: () => void, actor?: Actor): Timer {
    const event: Event = {
      time: Math.max(time, this.now),
      tie: this.random.bits(),
      label,
      actor,
      run,
      cancelled: false,
    };
    this.push(event);
    return event;
  }

  /** Takes steps until `done` returns true or no events are left. */
  run(done: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const turn = (): void => {
        if (done() || !this.step()) resolve();
        else queueMicrotask(next);
      };
      // A tick asked for by a microtask comes after every microtask, those still to be made included.
      const next = (): void => process.nextTick(turn);
      turn();
    });
  }

  private step(): boolean {
    for (let event = this.pop(); event !== undefined; event = this.pop()) {
      const { actor } = event;
      if (event.cancelled || actor?.alive === false) continue;
      if (actor !== undefined && actor.busyUntil > event.time) {
        event.time = actor.busyUntil;
        this.push(event);
        continue;
      }
      this.now = event.time;
      this.steps++;
      this.onStep?.(this.steps, this.now, actor?.name ?? 'world', event.label);
      actor?.wake();
      try {
        event.run();
      } catch (error) {
        this.onError(error);
      }
      return true;
    }
    return false;
  }

  private push(event: Event): void {
    const { heap } = this;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!earlier(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  private pop(): Event | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && earlier(heap[child + 1]!, heap[child]!)) child++;
      if (!earlier(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function earlier(a: Event, b: Event): boolean {
  return a.time < b.time || (a.time === b.time && a.tie < b.tie);
}
