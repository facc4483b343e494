/** One tenure: a process, and one worker ID that it holds without a break. */
export interface Issuer {
  readonly name: string;
  readonly host: number;
  /** `ip:port`. */
  readonly instance: string;
  readonly leaseId: string;
  readonly workerId: number;
  /** Unix milliseconds: it issues only above it. */
  readonly floor: number;
  /** When it was acquired, in milliseconds of the world. */
  readonly acquiredAt: number;
  /** A client process with a window. */
  readonly client?: boolean;
  /** IDs were issued up to a ceiling that only the file knew. */
  stoodIn: boolean;
  /**
   * It held when history was lost, something kept it from the registry, and it had not registered again when the grace
   * ended; or it took over after the grace from the file of such a one, before the registry was reached again.
   */
  missedGrace: boolean;
  /** Its data directory was copied, or is a copy. */
  readonly copied: () => boolean;
}

export function describeIssuer({ name, workerId }: Issuer): string {
  return `${name} as worker ${workerId}`;
}
