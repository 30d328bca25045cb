var x=1;
