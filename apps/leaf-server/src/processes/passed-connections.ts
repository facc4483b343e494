import type { ChildProcess } from 'node:child_process';

/** The message with which node:cluster passes an accepted connection to a process. */
interface NewConnection {
  readonly act?: string;
  /** Key of the port. */
  readonly key?: string;
}

interface Handle {
  /** Has no effect on a handle that is closed. */
  close(): void;
}

/**
 * Closes the connection that was passed to a process which ended before it accepted it. Node.js keeps it open and never
 * reads it: the client would wait without a limit. A process has at most one such connection for each port.
 */
export class PassedConnections {
  private readonly receivers = new WeakMap<Handle, ChildProcess>();

  watch(child: ChildProcess): void {
    /** The newest handle of each port. */
    const newest = new Map<string, Handle>();
    const send = child.send.bind(child) as (...parameters: unknown[]) => boolean;
    child.send = (...parameters: unknown[]): boolean => {
      const [{ act, key = '' }, handle] = parameters as [NewConnection, Handle?];
      if (act === 'newconn' && handle !== undefined) {
        newest.set(key, handle);
        this.receivers.set(handle, child);
      }
      return send(...parameters);
    };
    child.once('exit', () => {
      // Another process has a connection that this one has refused.
      for (const handle of newest.values()) if (this.receivers.get(handle) === child) handle.close();
    });
  }
}
