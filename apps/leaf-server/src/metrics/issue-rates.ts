/** How fast IDs go. */
export abstract class IssueRates {
  /** IDs a second of `tag` over the last minute or so; undefined while that is not known. */
  abstract rateOf(tag: string): number | undefined;
}
