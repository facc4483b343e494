import type { SeededRandom } from '../../../support/seeded-random';
import type { Mode } from '../history/history';
import type { LeafProcess } from '../world/leaf-process';
import type { ChaosWorld } from '../world/world';

/** A code of Leaf's catalogue, or what came in place of an answer. */
export type Code = string;

/** What broke connections and dead processes look like from outside. */
export const NO_ANSWER: readonly Code[] = ['refused', 'reset', 'timeout'];
/** Segment mode without its database, once the segments in memory are used up. */
export const NO_SEGMENT: readonly Code[] = ['LEAF_SEGMENT_UNAVAILABLE', 'LEAF_STORE_UNAVAILABLE'];

/** A server without a worker ID, and one whose registry did not answer its start in time. */
export const NO_WORKER: readonly Code[] = ['LEAF_NOT_READY', 'LEAF_REGISTRY_UNREACHABLE'];

/** A fault as it was drawn: all that is to be known before the world exists, so that a seed gives the same again. */
export interface Plan {
  readonly kind: string;
  /** What it breaks: two faults at once never break the same. */
  readonly parts: readonly string[];
  readonly holdMs: number;
  /** Longer than segments in memory last: segment mode may refuse. */
  readonly outlastsBuffers: boolean;
  /** What else was drawn, for people. */
  readonly detail: string;
  readonly arm: (world: ChaosWorld) => Fault;
}

/** What a call asked for, and whom. */
export interface Call {
  /** Undefined: a client of all servers. */
  readonly server: LeafProcess | undefined;
  readonly mode: Mode;
  /** In segment mode. */
  readonly tag: string | undefined;
}

/** A fault in a world. */
export interface Fault {
  begin(): Promise<void>;
  end(): Promise<void>;
  /**
   * What a caller may get in place of IDs.
   *
   * @param others the faults that last at the same time
   */
  expected(call: Call, others: readonly Plan[]): readonly Code[];
}

/** Draws a fault of one kind. */
export type Draw = (random: SeededRandom) => Plan;

/** The names of the servers, as the world gives them. */
export const SERVERS = ['a', 'b', 'c', 'd', 'e'] as const;
export type ServerName = (typeof SERVERS)[number];

/** The servers with one registry between them; the clients ask no others for snowflake IDs. */
export const SHARING: readonly ServerName[] = ['a', 'b'];

/** Whether one of the other faults strikes this server, or a part that only it uses. */
export function isHindered(server: LeafProcess | undefined, others: readonly Plan[]): boolean {
  return server !== undefined && others.some(({ parts }) => parts.some((part) => part.endsWith(` ${server.name}`)));
}

export function serverOf(world: ChaosWorld, name: ServerName): LeafProcess {
  return world.servers[SERVERS.indexOf(name)]!;
}

/** From `least` up to `most` milliseconds, in steps of 100. */
export function duration(random: SeededRandom, least: number, most: number): number {
  return least + 100 * random.below((most - least) / 100 + 1);
}
