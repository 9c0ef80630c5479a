/** The results of an evaluation, by flag position in the snapshot. */
export interface Outcomes {
  /** The index into the flag's table of outcomes, or -1 when the flag was not requested. */
  outcomeIndex(flagIndex: number): number
}
