import { useEffect, useState } from 'react'
import { useFormats } from '../../i18n/language.tsx'

const tickMilliseconds = 30_000

/** A relative time with the exact time as a tooltip. */
export function RelativeTime({ instant }: { instant: string }) {
  const { moment, ago } = useFormats()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMilliseconds)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={instant} title={moment(instant)} style={{ whiteSpace: 'nowrap' }}>
      {ago(instant, now)}
    </time>
  )
}
