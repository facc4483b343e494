export interface Mutation {
  readonly rule: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
  readonly prove: readonly string[];
  readonly sign: RegExp;
}

export const MUTATIONS: readonly Mutation[];
