/**
 * - `no-node`, `node-exists`, `bad-version`: the server's answer; nothing was changed.
 * - `denied`: the server knows us and says no, by its access lists or our credentials; nothing was changed, except that
 *   a `create` may have left a node that it could not protect.
 * - `invalid`: the request as such is wrong; nothing was changed.
 * - `other-session`: it was to be sent in a session that has ended; nothing was sent.
 * - `unreachable`: nothing was sent.
 * - `unknown-outcome`: it may have been sent and carried out, or may still be. Only reading back tells.
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

/** Why a call to ZooKeeper failed. Its message has no secrets. */
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

/** Every code that means that the server refused; all others leave it open whether the request was carried out. */
const REFUSALS: Readonly<Record<number, readonly [ZookeeperFaultKind, string]>> = {
  [-6]: ['invalid', 'the server does not know this request'],
  [-8]: ['invalid', 'ZooKeeper does not take this path'],
  [NO_NODE]: ['no-node', 'there is no such node'],
  [-102]: ['denied', 'the access list of the node does not allow it: check LEAF_ZOOKEEPER_AUTH'],
  [-103]: ['bad-version', 'somebody else has written'],
  [-108]: ['invalid', 'an ephemeral node has no children'],
  [NODE_EXISTS]: ['node-exists', 'the node exists'],
  [-111]: ['invalid', 'the node has children'],
  [-113]: ['denied', 'the server does not take the credentials: check LEAF_ZOOKEEPER_AUTH'],
  [-114]: ['denied', 'the server does not take the access list: check LEAF_ZOOKEEPER_AUTH'],
  [-115]: ['denied', 'the server does not take the credentials: check LEAF_ZOOKEEPER_AUTH'],
};

const LOSSES: Readonly<Record<number, string>> = {
  [-4]: 'the connection was lost',
  [-7]: 'the server fell silent',
  [CLOSED]: 'the connection was lost or closed',
  [SESSION_EXPIRED]: 'the session has expired',
  [-116]: 'the connection was lost or closed',
};

/** The native client's number for a failure, and whether the request may have left. */
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
