import { useSyncExternalStore } from 'react'
import { useMessages } from '../i18n/language.tsx'
import classes from './shell.module.css'

const subscribe = (listener: () => void) => {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

/** Shown while the browser has no connection. The region stays, so that screen readers announce what appears in it. */
export function OfflineBanner() {
  const t = useMessages()
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return (
    <div role="status" className={classes.offline}>
      {!isOnline && <p>{t.common.offline}</p>}
    </div>
  )
}
