import { LeafError } from '@leaf-ids/core';
import { messageOf } from '@leaf-ids/core/internal';

export const PACKAGE = 'zookeeper';

export const CREATE_FLAGS = { persistent: 0, ephemeral: 1, sequential: 2 } as const;
export const PERMIT_ALL = 31;

export interface NativeStat {
  /** Transaction ID that created the node: a new node at the same path has a different one. */
  readonly czxid: number;
  readonly version: number;
  /** Increases each time a child is created or removed. */
  readonly cversion: number;
  readonly mtime: Date;
  /** Hexadecimal; 0 when the node is not ephemeral. */
  readonly ephemeralOwner: string;
  readonly createdInThisSession: boolean;
}

/** Receives 0 and the results, or a negative error code. */
export type NativeCallback<Results extends unknown[]> = (code: number, text: string, ...results: Results) => void;

/** Credentials to resume a session over a new connection. The password is a secret. */
export interface SessionIdentity {
  readonly client_id: string;
  readonly client_password: string;
}

export interface NativeConfig extends Partial<SessionIdentity> {
  readonly connect: string;
  /** Session timeout, in milliseconds. */
  readonly timeout: number;
  readonly debug_level: number;
  readonly host_order_deterministic: boolean;
  /** Maximum number of chunks of a response. Above it, the client treats the session as expired and ends it. */
  readonly response_counter_limit: number;
}

/** The used part of the client. A call with a different number of arguments aborts the process. */
export interface NativeClient extends SessionIdentity {
  readonly state: number;
  /** `close` has a code: 0 if this process closed the client, otherwise what happened to the session. */
  on(event: 'connecting' | 'close', listener: (client: unknown, code: number) => void): unknown;
  init(config: object): unknown;
  close(): unknown;
  add_auth(scheme: string, credentials: string, done: NativeCallback<[]>): number;
  a_exists(path: string, watch: false, done: NativeCallback<[NativeStat]>): number;
  a_get(path: string, watch: false, done: NativeCallback<[NativeStat, Buffer | null]>): number;
  a_set(path: string, data: Buffer, version: number, done: NativeCallback<[NativeStat]>): number;
  a_create(path: string, data: Buffer, flags: number, done: NativeCallback<[string]>): number;
  a_delete_(path: string, version: number, done: NativeCallback<[]>): number;
  a_get_children(path: string, watch: false, done: NativeCallback<[string[]]>): number;
  a_sync(path: string, done: NativeCallback<[string]>): number;
  a_set_acl(path: string, version: number, acl: readonly object[], done: NativeCallback<[]>): number;
}

export type NativeClientClass = new (config: NativeConfig) => NativeClient;

/**
 * Locates the optional package, for the process that loads it.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when it is not installed
 */
export function locateNativeClient(name = PACKAGE): string {
  try {
    return require.resolve(name);
  } catch (error) {
    throw cannotLoad(name, error);
  }
}

/** The error for a package that is not installed, or does not load. */
export function cannotLoad(name: string, cause: unknown): LeafError {
  const [reason] = messageOf(cause).split('\n');
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `The ZooKeeper registries need the package ${name}, which cannot be loaded: ${reason}. npm compiles it, and leaves it out without an error if that fails: run npm install ${name} to see why. It needs a C compiler, make and python3, and does not compile on Node.js 26. Or set the option snowflake.registry to database.`,
    { cause },
  );
}
