import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Call } from '../api/client.ts'
import type { Credentials, Session } from '../api/session.ts'
import type { Live } from '../live/live.ts'
import type { DraftStore } from './draft-store.ts'

/** The dependencies provided once by `start-app.tsx`. */
export interface Services {
  readonly call: Call
  readonly session: Session
  readonly live: Live
  readonly drafts: DraftStore
}

export const ServicesContext = createContext<Services | undefined>(undefined)

export function useServices(): Services {
  const services = useContext(ServicesContext)
  if (!services) throw new Error('There are no services above this component.')
  return services
}

export const useCall = (): Call => useServices().call

export function useCredentials(): Credentials | undefined {
  const { session } = useServices()
  return useSyncExternalStore(session.subscribe, session.current)
}
