import type { PrivateServer } from './private-server';

/** Who is the primary, who is its replica, and whose data is to be removed. */
export abstract class ServerPair<Server extends PrivateServer> {
  protected standby: Server | undefined;
  private readonly gone: Server[] = [];

  constructor(private current: Server) {}

  get primary(): Server {
    return this.current;
  }

  get replica(): Server {
    if (this.standby === undefined) throw new Error('The pair has no replica: rejoin() makes one');
    return this.standby;
  }

  abstract waitForReplica(): Promise<void>;
  abstract stopReplication(): Promise<void>;
  abstract promote(): Promise<void>;
  abstract rejoin(): Promise<void>;

  /** Starts the primary again after a kill, as it was. */
  restart(): Promise<void> {
    return this.current.restart();
  }

  async stop(): Promise<void> {
    await this.standby?.stop();
    await this.current.stop();
    await this.dropGone();
  }

  /** The replica is the primary from now on. */
  protected exchange(): void {
    const { replica } = this;
    this.gone.push(this.current);
    this.current = replica;
    this.standby = undefined;
  }

  protected async dropGone(): Promise<void> {
    for (const server of this.gone.splice(0)) await server.stop();
  }
}

/** With its first replica, or not at all. */
export async function joined<Pair extends ServerPair<PrivateServer>>(pair: Pair): Promise<Pair> {
  try {
    await pair.rejoin();
    return pair;
  } catch (error) {
    await pair.stop();
    throw error;
  }
}
