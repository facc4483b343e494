import { type Scene, SANDBOX } from './scenes';
import { FilmWorld } from './world/film-world';

/** Plays a scene, or a world without a script, which does not end. */
export class Film {
  readonly world: FilmWorld;
  /** Index of the newest moment of the scene; -1 before the first. */
  moment = -1;
  private readonly startAll: Promise<void>;
  private queue: Promise<void>;

  constructor(readonly scene: Scene | undefined) {
    this.world = new FilmWorld(scene?.setup ?? SANDBOX);
    this.startAll = scene === undefined ? this.startServers() : Promise.resolve();
    this.queue = this.startAll;
  }

  get endMs(): number {
    return this.scene?.endMs ?? Infinity;
  }

  get ended(): boolean {
    return this.world.time.now >= this.endMs;
  }

  /** Whether what the rule of the scene prevents has happened. */
  get isBroken(): boolean {
    return this.world.duplicates.length > 0 || this.scene?.harm?.(this.world) === true;
  }

  /** Runs `task` after all earlier tasks of this film. */
  run(task: (film: this) => Promise<unknown>): Promise<void> {
    this.queue = this.queue.then(() => task(this)).then(() => undefined);
    return this.queue;
  }

  /** Plays until `until`, or to the next moment. @returns whether a moment has come */
  async playTo(until: number): Promise<boolean> {
    const next = this.scene?.moments[this.moment + 1];
    const limit = Math.min(until, next?.at ?? Infinity, this.endMs);
    while (await this.world.step(limit));
    if (next === undefined || next.at > until) return false;
    this.moment++;
    for (const act of next.acts) await this.world.act(act);
    return true;
  }

  /** Plays until a moment comes, or a process does something other than to issue a new ID. */
  async playToNext(longestMs = 4000): Promise<void> {
    const { log, time } = this.world;
    const limit = Math.min(time.now + longestMs, this.endMs);
    const entries = log.length;
    while (time.now < limit && log.length === entries) {
      if (await this.playTo(time.now + 100)) return;
    }
  }

  async playToEnd(): Promise<void> {
    while (!this.ended) await this.playTo(this.endMs);
  }

  private async startServers(): Promise<void> {
    for (const { name } of this.world.servers) await this.world.act({ do: 'start', server: name });
  }
}
