;; SHA-1 of one message. Integers have a rotate instruction, which vectors lack, so a single message is faster here than
;; in the SIMD kernel.
;;
;; Bytes 0 to 319 of the memory are the message schedule: 80 words. $result receives the first two words of the hash.
(module
  (memory (export "memory") 1)
  (func (export "hash") (param $message i32) (param $blocks i32) (param $result i32)
    (local $w i32)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32) (local $e i32)
    (local $h0 i32) (local $h1 i32) (local $h2 i32) (local $h3 i32) (local $h4 i32)
    (local.set $h0 (i32.const 0x67452301))
    (local.set $h1 (i32.const 0xefcdab89))
    (local.set $h2 (i32.const 0x98badcfe))
    (local.set $h3 (i32.const 0x10325476))
    (local.set $h4 (i32.const 0xc3d2e1f0))
    (loop $block
      ;; The first 16 words of the schedule are the block.
      (i32.store (i32.const 0) (i32.load (local.get $message)))
      (i32.store offset=4 (i32.const 0) (i32.load offset=4 (local.get $message)))
      (i32.store offset=8 (i32.const 0) (i32.load offset=8 (local.get $message)))
      (i32.store offset=12 (i32.const 0) (i32.load offset=12 (local.get $message)))
      (i32.store offset=16 (i32.const 0) (i32.load offset=16 (local.get $message)))
      (i32.store offset=20 (i32.const 0) (i32.load offset=20 (local.get $message)))
      (i32.store offset=24 (i32.const 0) (i32.load offset=24 (local.get $message)))
      (i32.store offset=28 (i32.const 0) (i32.load offset=28 (local.get $message)))
      (i32.store offset=32 (i32.const 0) (i32.load offset=32 (local.get $message)))
      (i32.store offset=36 (i32.const 0) (i32.load offset=36 (local.get $message)))
      (i32.store offset=40 (i32.const 0) (i32.load offset=40 (local.get $message)))
      (i32.store offset=44 (i32.const 0) (i32.load offset=44 (local.get $message)))
      (i32.store offset=48 (i32.const 0) (i32.load offset=48 (local.get $message)))
      (i32.store offset=52 (i32.const 0) (i32.load offset=52 (local.get $message)))
      (i32.store offset=56 (i32.const 0) (i32.load offset=56 (local.get $message)))
      (i32.store offset=60 (i32.const 0) (i32.load offset=60 (local.get $message)))
      (local.set $message (i32.add (local.get $message) (i32.const 64)))
      (local.set $a (local.get $h0))
      (local.set $b (local.get $h1))
      (local.set $c (local.get $h2))
      (local.set $d (local.get $h3))
      (local.set $e (local.get $h4))
      (local.set $w (i32.const 0))

      ;; Rounds 0 to 19: choose. Five rounds at a time, so that no variable has to be moved; the schedule grows
      ;; 16 words ahead of them, which lets the processor overlap the two.
      (loop $rounds0
        (i32.store offset=64 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load (local.get $w)) (i32.load offset=8 (local.get $w)))
              (i32.xor (i32.load offset=32 (local.get $w)) (i32.load offset=52 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=68 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=4 (local.get $w)) (i32.load offset=12 (local.get $w)))
              (i32.xor (i32.load offset=36 (local.get $w)) (i32.load offset=56 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=72 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=8 (local.get $w)) (i32.load offset=16 (local.get $w)))
              (i32.xor (i32.load offset=40 (local.get $w)) (i32.load offset=60 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=76 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=12 (local.get $w)) (i32.load offset=20 (local.get $w)))
              (i32.xor (i32.load offset=44 (local.get $w)) (i32.load offset=64 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=80 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=16 (local.get $w)) (i32.load offset=24 (local.get $w)))
              (i32.xor (i32.load offset=48 (local.get $w)) (i32.load offset=68 (local.get $w))))
            (i32.const 1)))
        (local.set $e
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $e) (i32.const 0x5a827999)) (i32.load (local.get $w)))
              (i32.xor (i32.and (i32.xor (local.get $c) (local.get $d)) (local.get $b)) (local.get $d)))
            (i32.rotl (local.get $a) (i32.const 5))))
        (local.set $b (i32.rotl (local.get $b) (i32.const 30)))
        (local.set $d
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $d) (i32.const 0x5a827999)) (i32.load offset=4 (local.get $w)))
              (i32.xor (i32.and (i32.xor (local.get $b) (local.get $c)) (local.get $a)) (local.get $c)))
            (i32.rotl (local.get $e) (i32.const 5))))
        (local.set $a (i32.rotl (local.get $a) (i32.const 30)))
        (local.set $c
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $c) (i32.const 0x5a827999)) (i32.load offset=8 (local.get $w)))
              (i32.xor (i32.and (i32.xor (local.get $a) (local.get $b)) (local.get $e)) (local.get $b)))
            (i32.rotl (local.get $d) (i32.const 5))))
        (local.set $e (i32.rotl (local.get $e) (i32.const 30)))
        (local.set $b
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $b) (i32.const 0x5a827999)) (i32.load offset=12 (local.get $w)))
              (i32.xor (i32.and (i32.xor (local.get $e) (local.get $a)) (local.get $d)) (local.get $a)))
            (i32.rotl (local.get $c) (i32.const 5))))
        (local.set $d (i32.rotl (local.get $d) (i32.const 30)))
        (local.set $a
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $a) (i32.const 0x5a827999)) (i32.load offset=16 (local.get $w)))
              (i32.xor (i32.and (i32.xor (local.get $d) (local.get $e)) (local.get $c)) (local.get $e)))
            (i32.rotl (local.get $b) (i32.const 5))))
        (local.set $c (i32.rotl (local.get $c) (i32.const 30)))
        (local.set $w (i32.add (local.get $w) (i32.const 20)))
        (br_if $rounds0 (i32.lt_u (local.get $w) (i32.const 80))))

      ;; Rounds 20 to 39: parity.
      (loop $rounds1
        (i32.store offset=64 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load (local.get $w)) (i32.load offset=8 (local.get $w)))
              (i32.xor (i32.load offset=32 (local.get $w)) (i32.load offset=52 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=68 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=4 (local.get $w)) (i32.load offset=12 (local.get $w)))
              (i32.xor (i32.load offset=36 (local.get $w)) (i32.load offset=56 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=72 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=8 (local.get $w)) (i32.load offset=16 (local.get $w)))
              (i32.xor (i32.load offset=40 (local.get $w)) (i32.load offset=60 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=76 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=12 (local.get $w)) (i32.load offset=20 (local.get $w)))
              (i32.xor (i32.load offset=44 (local.get $w)) (i32.load offset=64 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=80 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=16 (local.get $w)) (i32.load offset=24 (local.get $w)))
              (i32.xor (i32.load offset=48 (local.get $w)) (i32.load offset=68 (local.get $w))))
            (i32.const 1)))
        (local.set $e
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $e) (i32.const 0x6ed9eba1)) (i32.load (local.get $w)))
              (i32.xor (i32.xor (local.get $b) (local.get $c)) (local.get $d)))
            (i32.rotl (local.get $a) (i32.const 5))))
        (local.set $b (i32.rotl (local.get $b) (i32.const 30)))
        (local.set $d
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $d) (i32.const 0x6ed9eba1)) (i32.load offset=4 (local.get $w)))
              (i32.xor (i32.xor (local.get $a) (local.get $b)) (local.get $c)))
            (i32.rotl (local.get $e) (i32.const 5))))
        (local.set $a (i32.rotl (local.get $a) (i32.const 30)))
        (local.set $c
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $c) (i32.const 0x6ed9eba1)) (i32.load offset=8 (local.get $w)))
              (i32.xor (i32.xor (local.get $e) (local.get $a)) (local.get $b)))
            (i32.rotl (local.get $d) (i32.const 5))))
        (local.set $e (i32.rotl (local.get $e) (i32.const 30)))
        (local.set $b
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $b) (i32.const 0x6ed9eba1)) (i32.load offset=12 (local.get $w)))
              (i32.xor (i32.xor (local.get $d) (local.get $e)) (local.get $a)))
            (i32.rotl (local.get $c) (i32.const 5))))
        (local.set $d (i32.rotl (local.get $d) (i32.const 30)))
        (local.set $a
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $a) (i32.const 0x6ed9eba1)) (i32.load offset=16 (local.get $w)))
              (i32.xor (i32.xor (local.get $c) (local.get $d)) (local.get $e)))
            (i32.rotl (local.get $b) (i32.const 5))))
        (local.set $c (i32.rotl (local.get $c) (i32.const 30)))
        (local.set $w (i32.add (local.get $w) (i32.const 20)))
        (br_if $rounds1 (i32.lt_u (local.get $w) (i32.const 160))))

      ;; Rounds 40 to 59: majority.
      (loop $rounds2
        (i32.store offset=64 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load (local.get $w)) (i32.load offset=8 (local.get $w)))
              (i32.xor (i32.load offset=32 (local.get $w)) (i32.load offset=52 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=68 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=4 (local.get $w)) (i32.load offset=12 (local.get $w)))
              (i32.xor (i32.load offset=36 (local.get $w)) (i32.load offset=56 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=72 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=8 (local.get $w)) (i32.load offset=16 (local.get $w)))
              (i32.xor (i32.load offset=40 (local.get $w)) (i32.load offset=60 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=76 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=12 (local.get $w)) (i32.load offset=20 (local.get $w)))
              (i32.xor (i32.load offset=44 (local.get $w)) (i32.load offset=64 (local.get $w))))
            (i32.const 1)))
        (i32.store offset=80 (local.get $w)
          (i32.rotl
            (i32.xor
              (i32.xor (i32.load offset=16 (local.get $w)) (i32.load offset=24 (local.get $w)))
              (i32.xor (i32.load offset=48 (local.get $w)) (i32.load offset=68 (local.get $w))))
            (i32.const 1)))
        (local.set $e
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $e) (i32.const 0x8f1bbcdc)) (i32.load (local.get $w)))
              (i32.or
                (i32.and (i32.or (local.get $b) (local.get $c)) (local.get $d))
                (i32.and (local.get $b) (local.get $c))))
            (i32.rotl (local.get $a) (i32.const 5))))
        (local.set $b (i32.rotl (local.get $b) (i32.const 30)))
        (local.set $d
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $d) (i32.const 0x8f1bbcdc)) (i32.load offset=4 (local.get $w)))
              (i32.or
                (i32.and (i32.or (local.get $a) (local.get $b)) (local.get $c))
                (i32.and (local.get $a) (local.get $b))))
            (i32.rotl (local.get $e) (i32.const 5))))
        (local.set $a (i32.rotl (local.get $a) (i32.const 30)))
        (local.set $c
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $c) (i32.const 0x8f1bbcdc)) (i32.load offset=8 (local.get $w)))
              (i32.or
                (i32.and (i32.or (local.get $e) (local.get $a)) (local.get $b))
                (i32.and (local.get $e) (local.get $a))))
            (i32.rotl (local.get $d) (i32.const 5))))
        (local.set $e (i32.rotl (local.get $e) (i32.const 30)))
        (local.set $b
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $b) (i32.const 0x8f1bbcdc)) (i32.load offset=12 (local.get $w)))
              (i32.or
                (i32.and (i32.or (local.get $d) (local.get $e)) (local.get $a))
                (i32.and (local.get $d) (local.get $e))))
            (i32.rotl (local.get $c) (i32.const 5))))
        (local.set $d (i32.rotl (local.get $d) (i32.const 30)))
        (local.set $a
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $a) (i32.const 0x8f1bbcdc)) (i32.load offset=16 (local.get $w)))
              (i32.or
                (i32.and (i32.or (local.get $c) (local.get $d)) (local.get $e))
                (i32.and (local.get $c) (local.get $d))))
            (i32.rotl (local.get $b) (i32.const 5))))
        (local.set $c (i32.rotl (local.get $c) (i32.const 30)))
        (local.set $w (i32.add (local.get $w) (i32.const 20)))
        (br_if $rounds2 (i32.lt_u (local.get $w) (i32.const 240))))

      ;; Rounds 60 to 79: parity.
      ;; Words 76 to 79 complete the schedule.
      (i32.store offset=64 (local.get $w)
        (i32.rotl
          (i32.xor
            (i32.xor (i32.load (local.get $w)) (i32.load offset=8 (local.get $w)))
            (i32.xor (i32.load offset=32 (local.get $w)) (i32.load offset=52 (local.get $w))))
          (i32.const 1)))
      (i32.store offset=68 (local.get $w)
        (i32.rotl
          (i32.xor
            (i32.xor (i32.load offset=4 (local.get $w)) (i32.load offset=12 (local.get $w)))
            (i32.xor (i32.load offset=36 (local.get $w)) (i32.load offset=56 (local.get $w))))
          (i32.const 1)))
      (i32.store offset=72 (local.get $w)
        (i32.rotl
          (i32.xor
            (i32.xor (i32.load offset=8 (local.get $w)) (i32.load offset=16 (local.get $w)))
            (i32.xor (i32.load offset=40 (local.get $w)) (i32.load offset=60 (local.get $w))))
          (i32.const 1)))
      (i32.store offset=76 (local.get $w)
        (i32.rotl
          (i32.xor
            (i32.xor (i32.load offset=12 (local.get $w)) (i32.load offset=20 (local.get $w)))
            (i32.xor (i32.load offset=44 (local.get $w)) (i32.load offset=64 (local.get $w))))
          (i32.const 1)))
      (loop $rounds3
        (local.set $e
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $e) (i32.const 0xca62c1d6)) (i32.load (local.get $w)))
              (i32.xor (i32.xor (local.get $b) (local.get $c)) (local.get $d)))
            (i32.rotl (local.get $a) (i32.const 5))))
        (local.set $b (i32.rotl (local.get $b) (i32.const 30)))
        (local.set $d
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $d) (i32.const 0xca62c1d6)) (i32.load offset=4 (local.get $w)))
              (i32.xor (i32.xor (local.get $a) (local.get $b)) (local.get $c)))
            (i32.rotl (local.get $e) (i32.const 5))))
        (local.set $a (i32.rotl (local.get $a) (i32.const 30)))
        (local.set $c
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $c) (i32.const 0xca62c1d6)) (i32.load offset=8 (local.get $w)))
              (i32.xor (i32.xor (local.get $e) (local.get $a)) (local.get $b)))
            (i32.rotl (local.get $d) (i32.const 5))))
        (local.set $e (i32.rotl (local.get $e) (i32.const 30)))
        (local.set $b
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $b) (i32.const 0xca62c1d6)) (i32.load offset=12 (local.get $w)))
              (i32.xor (i32.xor (local.get $d) (local.get $e)) (local.get $a)))
            (i32.rotl (local.get $c) (i32.const 5))))
        (local.set $d (i32.rotl (local.get $d) (i32.const 30)))
        (local.set $a
          (i32.add
            (i32.add
              (i32.add (i32.add (local.get $a) (i32.const 0xca62c1d6)) (i32.load offset=16 (local.get $w)))
              (i32.xor (i32.xor (local.get $c) (local.get $d)) (local.get $e)))
            (i32.rotl (local.get $b) (i32.const 5))))
        (local.set $c (i32.rotl (local.get $c) (i32.const 30)))
        (local.set $w (i32.add (local.get $w) (i32.const 20)))
        (br_if $rounds3 (i32.lt_u (local.get $w) (i32.const 320))))

      (local.set $h0 (i32.add (local.get $h0) (local.get $a)))
      (local.set $h1 (i32.add (local.get $h1) (local.get $b)))
      (local.set $h2 (i32.add (local.get $h2) (local.get $c)))
      (local.set $h3 (i32.add (local.get $h3) (local.get $d)))
      (local.set $h4 (i32.add (local.get $h4) (local.get $e)))
      (br_if $block (local.tee $blocks (i32.sub (local.get $blocks) (i32.const 1)))))
    (i32.store (local.get $result) (local.get $h0))
    (i32.store offset=4 (local.get $result) (local.get $h1))))
