  program  CPU s  windows  counted  counted %  matched %  JIT %  told %  absolute  charged %        ended        refused
  rustc     12.7        3        3        5.9         99      0      96       yes       1.04  path lost 1  over budget 7

                                                 rows  measured  target
  tuned: absolute, of those that run >= 3 s, %      1     100.0   >= 80  met
  tuned: absolute, of those that run >= 10 s, %     1     100.0   >= 95  met
  tuned: most charged, rustc, %                     1       1.0  <= 1.5  met
All targets met.
DBG charge own 0.67 ms waited 0.17 calm 2.43/29.43 excess 0.17 copies 0 room 0
DBG end out=1 ref=0 rec 0 later 0 room 0 threads 1 win 100.00 ms dur 0.00 price 6.31 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 0.17 (+0.00) areas 0 copied 0 KiB cpu 0.03 s copying 14.0 MiB would cost about 6 ms of its time, and 1 % of its time allows that only after 0.4 s
DBG charge own 0.51 ms waited -0.00 calm 3.39/344.03 excess 0.17 copies 0 room 2
DBG end out=1 ref=0 rec 0 later 1 room 2 threads 1 win 30.00 ms dur 0.00 price 9.50 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 0.27 (+0.00) areas 0 copied 0 KiB cpu 0.35 s copying 34.7 MiB while all CPUs are busy would cost about 10 ms of its time, and 1 % of its time allows that only after 0.6 s
DBG charge own 5.37 ms waited -0.04 calm 3.54/437.99 excess 0.12 copies 0 room 2
DBG end out=1 ref=0 rec 0 later 1 room 2 threads 1 win 30.00 ms dur 0.00 price 12.81 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 1.35 (+0.00) areas 109 copied 0 KiB cpu 0.45 s copying 54.5 MiB while all CPUs are busy would cost about 13 ms of its time, and 1 % of its time allows that only after 0.9 s
DBG charge own 0.50 ms waited -0.00 calm 3.73/902.73 excess 0.12 copies 0 room 0
DBG end out=1 ref=0 rec 0 later 0 room 0 threads 1 win 202.98 ms dur 0.00 price 29.27 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 1.35 (+0.00) areas 0 copied 0 KiB cpu 0.91 s copying 81.2 MiB would cost about 29 ms of its time, and 1 % of its time allows that only after 2.0 s
DBG charge own 0.62 ms waited -0.00 calm 13.51/1846.81 excess 0.12 copies 0 room 0
DBG end out=1 ref=0 rec 0 later 0 room 0 threads 1 win 309.91 ms dur 0.00 price 39.92 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 1.35 (+0.00) areas 0 copied 0 KiB cpu 1.86 s copying 135.0 MiB would cost about 40 ms of its time, and 1 % of its time allows that only after 2.8 s
DBG look 42.4 ms error - used 178 hot 0 new 178 MiB crashes 0
DBG charge own 12.32 ms waited -0.12 calm 14.03/2923.01 excess -0.69 copies 0 room 0
DBG end out=2 ref=0 rec 0 later 0 room 0 threads 1 win 100.00 ms dur 0.00 price 9.16 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 1.25 (+0.00) areas 109 copied 0 KiB cpu 3.12 s 
DBG look 50.4 ms error - used 178 hot 8 new 169 MiB crashes 0
DBG charge own 1000.55 ms waited 17.64 calm 14.03/2928.32 excess 17.64 copies 0 room 0
DBG end out=0 ref=0 rec 0 later 0 room 0 threads 1 win 393.35 ms dur 398.08 price 45.22 stop 18.21 replay 1042.27 samples 133/133 end 0 (0 ) parts 4 cut 0 trunc 0 lost 61.10 (+38.06) areas 109 copied 182308 KiB cpu 5.62 s 
DBG charge own 2.47 ms waited -0.02 calm 15.18/3051.74 excess 17.61 copies 0 room 0
DBG end out=1 ref=0 rec 0 later 0 room 0 threads 1 win 200.49 ms dur 0.00 price 26.05 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 61.08 (+0.00) areas 109 copied 0 KiB cpu 5.75 s copying 146.9 MiB would cost about 26 ms of its time, and 1 % of its time allows that only after 5.8 s
DBG charge own 136.30 ms waited -3.83 calm 15.95/3852.22 excess 13.78 copies 1 room 0
DBG end out=0 ref=0 rec 0 later 0 room 0 threads 1 win 179.56 ms dur 180.68 price 23.34 stop 13.65 replay 454.99 samples 61/61 end 0 (0 ) parts 4 cut 0 trunc 0 lost 94.97 (+3.01) areas 109 copied 131812 KiB cpu 7.64 s 
DBG charge own 277.26 ms waited 27.93 calm 15.95/3852.22 excess 41.71 copies 0 room 0
DBG end out=0 ref=0 rec 0 later 0 room 0 threads 1 win 166.97 ms dur 168.00 price 21.71 stop 12.91 replay 646.86 samples 56/58 end 19 (0 ) parts 4 cut 0 trunc 0 lost 132.14 (+37.17) areas 109 copied 119964 KiB cpu 9.63 s 
DBG charge own 0.56 ms waited -0.00 calm 20.82/5000.00 excess 41.71 copies 0 room 0
DBG end out=1 ref=0 rec 0 later 0 room 0 threads 1 win 259.62 ms dur 0.00 price 22.15 stop 0.00 replay 0.00 samples 0/0 end 17 (0 ) parts 0 cut 0 trunc 0 lost 132.14 (+0.00) areas 0 copied 0 KiB cpu 12.35 s copying 74.9 MiB would cost about 22 ms of its time, and 1 % of its time allows that only after 15.4 s
