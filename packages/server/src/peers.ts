/** Other processes of this installation on the same machine, told at once when something was committed. A lost word costs latency only. */
export interface Peers {
  /** What this process is called among them; undefined when it is alone. */
  readonly ownName: string | undefined
  tellOfChanges(): void
  onChangesTold(listener: () => void): void
  /** Says something to the same part of every other process: plain JSON, and seldom. */
  tell(part: string, word: unknown): void
  onTold(part: string, listener: (word: unknown) => void): void
}

/** A process by itself. */
export const noPeers: Peers = { ownName: undefined, tellOfChanges() {}, onChangesTold() {}, tell() {}, onTold() {} }
