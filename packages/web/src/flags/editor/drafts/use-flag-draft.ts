import type { Flag } from '@halyard/contract'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useServices } from '../../../services/services.ts'
import { changesOf, type Draft, draftOf } from '../draft.ts'
import { type BrokenPayloads, hasBrokenPayload } from '../variants/payload-editor.tsx'
import { type Choice, type Collision, mergeDrafts } from './merge-drafts.ts'
import { readUnsaved, type UnsavedDraft } from './unsaved-draft.ts'

export interface FlagDraft extends UnsavedDraft {
  readonly isChanged: boolean
  /** A newer version changed the same places; saving needs a decision about each. */
  readonly collisions: readonly Collision[]
  /** The newer version was merged with the edit. */
  readonly isMerged: boolean
  setDraft(change: (draft: Draft) => Draft): void
  setBroken(broken: BrokenPayloads): void
  /** Back to the newest version. */
  discard(): void
  /** Decides all collisions; returns the merged draft. */
  decide(choices: Readonly<Record<string, Choice>>): Draft
  /** After saving: this version is what the next edit starts from. */
  restart(flag: Flag): void
}

const writeDelayMilliseconds = 200
const noCollisions: readonly Collision[] = []

const startOf = (version: number, original: Draft): UnsavedDraft => ({
  version,
  original,
  draft: original,
  broken: {},
})

/** The edit of one flag, kept in the tab's storage. A newer version of the flag is merged into it. */
export function useFlagDraft(id: string, latest: { readonly version: number; readonly original: Draft }): FlagDraft {
  const { drafts } = useServices()
  const [state, setState] = useState(() => readUnsaved(drafts.read(id)) ?? startOf(latest.version, latest.original))
  const [isMerged, setIsMerged] = useState(false)
  const isBroken = hasBrokenPayload(state.draft.filters, state.broken)
  const isDifferent = useMemo(
    () => Object.keys(changesOf(state.draft, state.original)).length > 0,
    [state.draft, state.original],
  )
  const isChanged = isDifferent || isBroken
  const merge = (choices?: Readonly<Record<string, Choice>>) =>
    mergeDrafts(state.original, latest.original, state.draft, choices)

  let collisions = noCollisions
  if (latest.version > state.version) {
    const merged = merge()
    collisions = merged.collisions
    // Adjusting the state while rendering: the form never shows an outdated version.
    if (!isChanged) setState(startOf(latest.version, latest.original))
    else if (collisions.length === 0) {
      setState({ ...latest, draft: merged.draft, broken: state.broken })
      setIsMerged(true)
    }
  }

  const flush = usePersistence(id, isChanged ? state : undefined)
  return {
    ...state,
    isChanged,
    collisions,
    isMerged: isMerged && isChanged,
    setDraft: change => setState(old => ({ ...old, draft: change(old.draft) })),
    setBroken: broken => setState(old => ({ ...old, broken })),
    discard: () => {
      flush(undefined)
      setIsMerged(false)
      setState(startOf(latest.version, latest.original))
    },
    decide: choices => {
      const { draft } = merge(choices)
      setState({ ...latest, draft, broken: state.broken })
      return draft
    },
    restart: flag => {
      flush(undefined)
      setIsMerged(false)
      setState(startOf(flag.version, draftOf(flag)))
    },
  }
}

/** Writes the edit after a pause, and at once when the page goes away. Returns a function that writes now. */
function usePersistence(id: string, unsaved: UnsavedDraft | undefined) {
  const { drafts } = useServices()
  const latest = useRef(unsaved)
  const write = useRef((value: UnsavedDraft | undefined) => {
    latest.current = value
    if (value) drafts.write(id, value)
    else drafts.remove(id)
  }).current
  useEffect(() => {
    latest.current = unsaved
    const timer = setTimeout(() => write(unsaved), writeDelayMilliseconds)
    return () => clearTimeout(timer)
  }, [unsaved, write])
  useEffect(() => {
    const flush = () => write(latest.current)
    window.addEventListener('pagehide', flush)
    return () => {
      window.removeEventListener('pagehide', flush)
      flush()
    }
  }, [write])
  return write
}
