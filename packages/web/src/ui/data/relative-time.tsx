import { useEffect, useState } from 'react'
import { useFormats } from '../../i18n/language.tsx'

const tickMilliseconds = 30_000

/** How long ago something was, which says more at a glance than a date; the exact time is there on hovering. */
export function RelativeTime({ instant }: { instant: string }) {
  const { moment, ago } = useFormats()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMilliseconds)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={instant} title={moment(instant)}>
      {ago(instant, now)}
    </time>
  )
}
