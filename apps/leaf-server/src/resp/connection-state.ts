import type { Accepted } from '../clients/client-access';
import type { ProtocolVersion } from './replies';

/** State of one connection: protocol version, name and access. */
export class ConnectionState {
  version: ProtocolVersion = 2;
  /** Set by the client. */
  name = '';
  /** Access of the token of the connection; undefined without a token. */
  access: Accepted | undefined;
  /** Whether the connection ends after the answers to the commands so far. */
  ending = false;

  constructor(
    readonly id: number,
    /** Address of the client. */
    readonly address: string,
    /** Whether there are too many connections: this one takes IDs from memory only, not many at once. */
    readonly surplus: boolean,
  ) {}

  reset(): void {
    this.version = 2;
    this.name = '';
    this.access = undefined;
  }
}
