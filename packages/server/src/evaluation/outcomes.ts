/** What an evaluation found, by the positions of the snapshot's flags. */
export interface Outcomes {
  /** The position in the table of the flag's outcomes, or -1 when the flag was not asked for. */
  outcomeIndex(flagIndex: number): number
}
