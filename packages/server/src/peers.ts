/** Other processes of this installation on the same machine, told at once when something was committed. A lost word costs latency only. */
export interface Peers {
  tellOfChanges(): void
  onChangesTold(listener: () => void): void
}

/** A process by itself. */
export const noPeers: Peers = { tellOfChanges() {}, onChangesTold() {} }
