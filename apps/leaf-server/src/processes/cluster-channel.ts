import cluster, { type Worker } from 'node:cluster';
import type { Channel } from './channel-bus';
import type { Order, Report } from './messages';

/** The channel between a process of a server and its supervisor. */
export class ClusterChannel implements Channel {
  private readonly worker: Worker;

  /** @throws Error when this process was started by somebody else */
  constructor() {
    if (cluster.worker === undefined) throw new Error('--process is for processes that the server starts by itself.');
    this.worker = cluster.worker;
  }

  send(report: Report): void {
    if (this.worker.isConnected()) this.worker.send(report);
  }

  /** Resolves when it is on its way. */
  async sendLast(report: Report): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.worker.isConnected()) this.worker.send(report, () => resolve());
      else resolve();
    });
  }

  onOrder(act: (order: Order) => void): void {
    this.worker.on('message', act);
  }

  /** Called when the supervisor is gone; this process then stops gracefully. */
  onOrphaned(act: () => void): void {
    this.worker.once('disconnect', () => {
      // Node would end the process at once.
      this.worker.exitedAfterDisconnect = true;
      act();
    });
  }
}
