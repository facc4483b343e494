/**
 * - `no-node`, `node-exists`, `bad-version`: the response of the server; nothing was changed.
 * - `denied`: the server refused the request because of access lists or credentials; nothing was changed, except that a
 *   `create` may have left a node whose access list could not be set.
 * - `invalid`: the request itself is invalid; nothing was changed.
 * - `other-session`: the required session has ended; nothing was sent.
 * - `unreachable`: nothing was sent.
 * - `unknown-outcome`: the request may have been executed, or may be executed later. Only reading back tells.
 */
export type ZookeeperFaultKind =
  | 'no-node'
  | 'node-exists'
  | 'bad-version'
  | 'denied'
  | 'invalid'
  | 'other-session'
  | 'unreachable'
  | 'unknown-outcome';

/** A failed call to ZooKeeper. Its message contains no secrets. */
export class ZookeeperFault extends Error {
  override readonly name = 'ZookeeperFault';

  constructor(
    readonly kind: ZookeeperFaultKind,
    message: string,
  ) {
    super(message);
  }
}

export function isFault(error: unknown, ...kinds: ZookeeperFaultKind[]): error is ZookeeperFault {
  return error instanceof ZookeeperFault && kinds.includes(error.kind);
}

export const NO_NODE = -101;
export const NODE_EXISTS = -110;
export const SESSION_EXPIRED = -112;
export const CLOSED = -9;

/** The codes with which the server refuses a request. After all other codes, the request may have been executed. */
const REFUSALS: Readonly<Record<number, readonly [ZookeeperFaultKind, string]>> = {
  [-6]: ['invalid', 'the server does not support this request'],
  [-8]: ['invalid', 'the path is invalid'],
  [NO_NODE]: ['no-node', 'the node does not exist'],
  [-102]: ['denied', 'the access list of the node denies it: check the option snowflake.registry.zookeeper.auth'],
  [-103]: ['bad-version', 'another client has changed the node'],
  [-108]: ['invalid', 'an ephemeral node cannot have children'],
  [NODE_EXISTS]: ['node-exists', 'the node already exists'],
  [-111]: ['invalid', 'the node has children'],
  [-113]: ['denied', 'the server does not take the credentials: check the option snowflake.registry.zookeeper.auth'],
  [-114]: ['denied', 'the server rejects the access list: check the option snowflake.registry.zookeeper.auth'],
  [-115]: ['denied', 'the server does not take the credentials: check the option snowflake.registry.zookeeper.auth'],
};

const LOSSES: Readonly<Record<number, string>> = {
  [-4]: 'the connection was lost',
  [-7]: 'the server stopped responding',
  [CLOSED]: 'the connection was lost or closed',
  [SESSION_EXPIRED]: 'the session has expired',
  [-116]: 'the connection was lost or closed',
};

/** A failure of the native client: its error code, and whether the request may have been sent. */
export class NativeFailure extends Error {
  constructor(
    readonly code: number,
    readonly sent: boolean,
  ) {
    super(REFUSALS[code]?.[1] ?? LOSSES[code] ?? `code ${code}`);
  }

  get kind(): ZookeeperFaultKind {
    return REFUSALS[this.code]?.[0] ?? (this.sent ? 'unknown-outcome' : 'unreachable');
  }
}
