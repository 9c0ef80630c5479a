/** How a change is saved: directly, as a request for approval, or in an emergency past policies and freezes. */
export type SaveMode =
  | { readonly kind: 'save'; readonly note: string }
  | { readonly kind: 'request'; readonly title: string; readonly reason: string; readonly applyAt: string }
  | { readonly kind: 'emergency'; readonly reason: string }

export const plainSave: SaveMode = { kind: 'save', note: '' }

/** Header values are ASCII, so they are percent-encoded. */
export function saveHeaders(mode: SaveMode): Record<string, string> {
  if (mode.kind === 'emergency') return { 'x-halyard-emergency': encodeURIComponent(mode.reason.trim()) }
  const note = (mode.kind === 'save' ? mode.note : mode.reason).trim()
  return note === '' ? {} : { 'x-halyard-note': encodeURIComponent(note) }
}
