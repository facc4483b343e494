import { LeafError } from '@leaf-ids/core';

export const PACKAGE = 'zookeeper';

export const CREATE_FLAGS = { persistent: 0, ephemeral: 1, sequential: 2 } as const;
export const PERMIT_ALL = 31;

export interface NativeStat {
  /** Number of the change that made the node: another node at the same path has another one. */
  readonly czxid: number;
  readonly version: number;
  readonly mtime: Date;
  /** Hexadecimal; 0 when the node is not ephemeral. */
  readonly ephemeralOwner: string;
  readonly createdInThisSession: boolean;
}

/** Zero, or a negative number that says why not; then what was asked for. */
export type NativeCallback<Results extends unknown[]> = (code: number, text: string, ...results: Results) => void;

/** What continues a session over another connection. The password is a secret. */
export interface SessionIdentity {
  readonly client_id: string;
  readonly client_password: string;
}

export interface NativeConfig extends Partial<SessionIdentity> {
  readonly connect: string;
  /** Session time-out, in milliseconds. */
  readonly timeout: number;
  readonly debug_level: number;
  readonly host_order_deterministic: boolean;
  /** In how many pieces an answer may arrive: with one more, the client takes the session for expired, and ends it. */
  readonly response_counter_limit: number;
}

/** What is used of the client: a call with another number of arguments than shown ends the process. */
export interface NativeClient extends SessionIdentity {
  readonly state: number;
  /** `close` comes with a code: 0 when we closed it, or what happened to the session. */
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
  a_set_acl(path: string, version: number, acl: readonly object[], done: NativeCallback<[]>): number;
}

export type NativeClientClass = new (config: NativeConfig) => NativeClient;

/**
 * Where the optional package is, for the process that loads it.
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

/** Also for a package that is installed but was not compiled. */
export function cannotLoad(name: string, cause: unknown): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `ZooKeeper needs the package ${name}, which cannot be loaded. With a C compiler, make and python3 on this machine: npm install ${name}. Or choose a registry without ZooKeeper: LEAF_SNOWFLAKE_REGISTRY=database (embedded: snowflake.registry).`,
    { cause },
  );
}
