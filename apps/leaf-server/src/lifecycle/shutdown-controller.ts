/** This many signals end the process at once: the first asks it to stop, the second is often a mere repetition. */
const LAST_SIGNAL = 3;

/** A server as far as its stop is concerned. */
interface Closable {
  close(options: { readonly drain: boolean }): Promise<void>;
}

/** Ends the process in order, once; a start under way is awaited first. */
export class ShutdownController {
  /** Whether it was told to. */
  asked = false;

  constructor(private readonly starting: Promise<Closable>) {}

  /** @param drain whether load balancers are to find out first */
  now(drain: boolean): void {
    if (this.asked) return;
    this.asked = true;
    // Not left to the event loop: a connection that nobody answers would keep it turning.
    this.starting
      .then((server) => server.close({ drain }))
      .then(
        () => process.exit(),
        () => undefined,
      );
  }

  /** @param interrupt whether Ctrl-C is for this process; one that is supervised leaves it to its supervisor */
  onSignals({ interrupt }: { readonly interrupt: boolean }): void {
    let signals = 0;
    const stop = (signal: NodeJS.Signals): void => {
      signals++;
      if (signals >= LAST_SIGNAL) process.exit(1);
      this.now(signal !== 'SIGINT');
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', interrupt ? stop : () => undefined);
  }
}
